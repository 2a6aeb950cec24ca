/*
 * tests/integration/JdbcClient.java
 *
 *   java -cp postgresql.jar JdbcClient.java PORT
 *
 * What PostgreSQL's JDBC driver says on the wire, part by part: fetch sizes, statements that it prepares on the
 * server after some executions, binary parameters, batches, savepoints, COPY, generated keys, fast-path calls,
 * notifications, cancels.  Each part looks at its own results.  Ends with 0 when all of them are as they should be.
 */
import java.io.StringReader;
import java.io.StringWriter;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyManager;
import org.postgresql.largeobject.LargeObject;
import org.postgresql.largeobject.LargeObjectManager;

class JdbcClient {
    static String url;

    interface Part {
        void run(Connection c) throws Exception;
    }

    interface Failing {
        void run() throws Exception;
    }

    static void expect(Object wanted, Object got) {
        if (!wanted.equals(got)) {
            throw new AssertionError("expected " + wanted + ", got " + got);
        }
    }

    static void expectError(String sqlstate, Failing what) throws Exception {
        try {
            what.run();
        } catch (SQLException e) {
            expect(sqlstate, e.getSQLState());
            return;
        }
        throw new AssertionError("no error " + sqlstate);
    }

    /* With a connection of its own. */
    static void part(String name, String options, Part body) throws Exception {
        try (Connection c = DriverManager.getConnection(url + "&ApplicationName=" + name + options)) {
            body.run(c);
        }
    }

    static void execute(Connection c, String sql) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute(sql);
        }
    }

    /* By function calls.  First, so that the object has the same number on a clone. */
    static void largeObject(Connection c) throws Exception {
        c.setAutoCommit(false);
        LargeObjectManager manager = c.unwrap(PGConnection.class).getLargeObjectAPI();
        long oid = manager.createLO(LargeObjectManager.READ | LargeObjectManager.WRITE);
        LargeObject object = manager.open(oid, LargeObjectManager.WRITE);
        object.write(new byte[100000]);
        object.close();
        object = manager.open(oid, LargeObjectManager.READ);
        object.seek(99000);
        expect(1000, object.read(4000).length);
        object.close();
        manager.delete(oid);
        c.commit();
    }

    /* Named portals with row limits; the same text again and again is prepared on the server in the end. */
    static void fetchSize(Connection c) throws Exception {
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("SELECT a, b, c FROM t WHERE a > ? AND a <= 1000 ORDER BY a")) {
            s.setFetchSize(50);
            for (int from : new int[] {0, 990, 0, 950, 999, 500, 0}) {
                s.setInt(1, from);
                int rows = 0;
                try (ResultSet r = s.executeQuery()) {
                    while (r.next()) {
                        rows++;
                        expect("row " + r.getInt(1), r.getString(2));
                    }
                }
                expect(1000 - from, rows);
            }
            /* Two at once, one of them not read to its end. */
            s.setInt(1, 0);
            try (ResultSet r = s.executeQuery(); Statement other = c.createStatement()) {
                r.next();
                other.setFetchSize(300);
                try (ResultSet q = other.executeQuery("SELECT generate_series(1, 700)")) {
                    while (q.next()) {
                        r.next();
                    }
                }
            }
        }
        c.commit();
    }

    static void values(Connection c) throws Exception {
        execute(c, "CREATE TABLE jdbc_values (id int PRIMARY KEY, l bigint, d double precision, n numeric, b boolean,"
                + " x bytea, s text, at timestamp, u uuid, a int[])");
        try (PreparedStatement s = c.prepareStatement(
                "INSERT INTO jdbc_values VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            for (int i = 0; i < 12; i++) {
                s.setInt(1, i);
                s.setLong(2, Long.MAX_VALUE - i);
                s.setDouble(3, i / 3.0);
                s.setBigDecimal(4, new BigDecimal("12345.678").multiply(BigDecimal.valueOf(i)));
                s.setBoolean(5, i % 2 == 0);
                s.setBytes(6, new byte[] {0, (byte) 255, (byte) i, '\\', '\''});
                s.setString(7, i % 3 == 0 ? "" : "it's " + i + " \u00e4\u20ac\ud83d\ude00");
                s.setTimestamp(8, Timestamp.valueOf("2024-02-29 12:34:56.789"));
                s.setObject(9, new UUID(i, i));
                s.setArray(10, c.createArrayOf("int4", new Integer[] {i, null, 3}));
                if (i % 4 == 3) {
                    s.setNull(4, Types.NUMERIC);
                    s.setNull(7, Types.VARCHAR);
                    s.setNull(10, Types.ARRAY);
                }
                expect(1, s.executeUpdate());
            }
        }
        try (PreparedStatement s = c.prepareStatement("SELECT * FROM jdbc_values WHERE id = ?")) {
            for (int i = 0; i < 12; i++) {
                s.setInt(1, i);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    expect(Long.MAX_VALUE - i, r.getLong(2));
                    expect((byte) i, r.getBytes(6)[2]);
                }
            }
        }
    }

    /* So many that the driver sends more than one Sync. */
    static void batch(Connection c) throws Exception {
        execute(c, "CREATE TABLE jdbc_batch (id serial PRIMARY KEY, k int UNIQUE, v text)");
        c.setAutoCommit(false);
        try (PreparedStatement s = c.prepareStatement("INSERT INTO jdbc_batch (k, v) VALUES (?, ?)")) {
            for (int i = 0; i < 600; i++) {
                s.setInt(1, i);
                s.setString(2, "v".repeat(i % 50));
                s.addBatch();
            }
            expect(600, s.executeBatch().length);
            c.commit();
            /* One that fails in the middle takes the others along. */
            for (int i = 600; i < 640; i++) {
                s.setInt(1, i == 620 ? 1 : i);
                s.setString(2, "again");
                s.addBatch();
            }
            expectError("23505", s::executeBatch);
            c.rollback();
        }
        try (PreparedStatement s = c.prepareStatement("INSERT INTO jdbc_batch (k, v) VALUES (?, 'key')",
                Statement.RETURN_GENERATED_KEYS)) {
            for (int i = 700; i < 720; i++) {
                s.setInt(1, i);
                s.addBatch();
            }
            s.executeBatch();
            int keys = 0;
            try (ResultSet r = s.getGeneratedKeys()) {
                while (r.next()) {
                    keys++;
                }
            }
            expect(20, keys);
            s.setInt(1, 800);
            s.executeUpdate();
            try (ResultSet r = s.getGeneratedKeys()) {
                r.next();
                execute(c, "UPDATE jdbc_batch SET v = 'found' WHERE id = " + r.getInt("id"));
            }
        }
        try (Statement s = c.createStatement()) {
            s.addBatch("UPDATE jdbc_batch SET v = 'x' WHERE k < 10");
            s.addBatch("DELETE FROM jdbc_batch WHERE k < 5");
            expect(2, s.executeBatch().length);
        }
        c.commit();
    }

    static void savepoint(Connection c) throws Exception {
        c.setAutoCommit(false);
        execute(c, "INSERT INTO t (a, b) VALUES (70001, 'before')");
        Savepoint point = c.setSavepoint("point");
        expectError("23505", () -> execute(c, "INSERT INTO t (a, b) VALUES (70001, 'twice')"));
        expectError("25P02", () -> execute(c, "SELECT 1"));
        c.rollback(point);
        execute(c, "INSERT INTO t (a, b) VALUES (70002, 'behind'); SELECT 'of two'");
        c.commit();
        expectError("22012", () -> execute(c, "SELECT 1 / (a - a) FROM t"));
        c.rollback();
        expectError("42601", () -> execute(c, "SELEC"));
    }

    static void copy(Connection c) throws Exception {
        CopyManager manager = c.unwrap(PGConnection.class).getCopyAPI();
        StringBuilder lines = new StringBuilder();
        for (int i = 80000; i < 85000; i++) {
            lines.append(i).append("\trow ").append(i).append('\n');
        }
        expect(5000L, manager.copyIn("COPY t (a, b) FROM STDIN", new StringReader(lines.toString())));
        expect(1000L, manager.copyOut("COPY (SELECT * FROM t WHERE a <= 1000) TO STDOUT", new StringWriter()));
        expectError("22P02", () -> manager.copyIn("COPY t (a) FROM STDIN", new StringReader("nonsense\n")));
    }

    static void simple(Connection c) throws Exception {
        try (PreparedStatement s = c.prepareStatement("SELECT b FROM t WHERE a = ?")) {
            for (int i = 1; i < 10; i++) {
                s.setInt(1, i);
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    expect("row " + i, r.getString(1));
                }
            }
        }
        expectError("22012", () -> execute(c, "SELECT 1; SELECT 1 / 0; SELECT 2"));
    }

    static void notifications(Connection c) throws Exception {
        execute(c, "LISTEN jdbc");
        part("jdbc-notify", "", other -> execute(other, "NOTIFY jdbc, 'hello'"));
        expect(1, c.unwrap(PGConnection.class).getNotifications(60000).length);
        execute(c, "UNLISTEN jdbc");
    }

    static boolean isRunning(Connection other, String sql) throws SQLException {
        try (PreparedStatement s = other.prepareStatement(
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = ?")) {
            s.setString(1, sql);
            try (ResultSet r = s.executeQuery()) {
                r.next();
                return r.getInt(1) == 1;
            }
        }
    }

    static void cancel(Connection c) throws Exception {
        String sql = "SELECT pg_sleep(200)";
        Statement s = c.createStatement();
        Thread canceller = new Thread(() -> {
            try {
                part("jdbc-canceller", "", other -> {
                    while (!isRunning(other, sql)) {
                        Thread.sleep(20);
                    }
                });
                s.cancel();
            } catch (Exception e) {
                e.printStackTrace();
            }
        });
        canceller.start();
        expectError("57014", () -> s.execute(sql));
        canceller.join();
        /* A timer of the driver: it ends this one a second after it was sent, or, where that was too early, the next. */
        for (boolean done = false; !done;) {
            s.setQueryTimeout(1);
            try {
                s.execute("SELECT pg_sleep(5)");
            } catch (SQLException e) {
                expect("57014", e.getSQLState());
                done = true;
            }
        }
        s.setQueryTimeout(0);
        s.execute("SELECT 'goes on'");
    }

    public static void main(String[] args) throws Exception {
        url = "jdbc:postgresql://127.0.0.1:" + args[0] + "/bank?user=postgres&sslmode=disable&gssEncMode=disable";
        part("jdbc-large-object", "", JdbcClient::largeObject);
        part("jdbc-fetch-size", "", JdbcClient::fetchSize);
        part("jdbc-values", "", JdbcClient::values);
        part("jdbc-values-at-once", "&prepareThreshold=1&binaryTransferEnable=numeric", JdbcClient::simple);
        part("jdbc-batch", "", JdbcClient::batch);
        part("jdbc-batch-rewritten", "&reWriteBatchedInserts=true&currentSchema=rewritten", c -> {
            execute(c, "CREATE SCHEMA rewritten");
            batch(c);
        });
        part("jdbc-savepoint", "", JdbcClient::savepoint);
        part("jdbc-autosave", "&autosave=always&cleanupSavepoints=true", c -> {
            c.setAutoCommit(false);
            execute(c, "SELECT 1");
            expectError("42P01", () -> execute(c, "SELECT * FROM nowhere"));
            execute(c, "SELECT 2");
            c.commit();
        });
        part("jdbc-copy", "", JdbcClient::copy);
        part("jdbc-simple", "&preferQueryMode=simple", JdbcClient::simple);
        part("jdbc-cached", "&preferQueryMode=extendedCacheEverything", JdbcClient::simple);
        part("jdbc-notifications", "", JdbcClient::notifications);
        part("jdbc-cancel", "", JdbcClient::cancel);
    }
}
