/*
 * tests/integration/node_client.js
 *
 *   NODE_PATH=... node node_client.js PORT
 *
 * What Node.js' pg and pg-cursor say on the wire: parameters, named statements, a pool whose clients work at the same
 * time, row limits with Flush, cursors, notifications, a transaction that fails, bytes and NULL, an end without
 * Terminate.  Each part looks at its own results.  Ends with 0 when all of them are as they should be.
 */
'use strict';
const assert = require('assert');
const { Client, Pool } = require('pg');
const Cursor = require('pg-cursor');

const base = { host: '127.0.0.1', port: Number(process.argv[2]), user: 'postgres', database: 'bank' };

async function part(name, body) {
    const client = new Client({ ...base, application_name: name });
    await client.connect();
    await body(client);
    await client.end();
}

async function expectError(code, promise) {
    await assert.rejects(promise, (e) => e.code === code);
}

async function values(c) {
    await c.query('CREATE TABLE node_values (id int PRIMARY KEY, x bytea, s text, n numeric, j jsonb, at timestamptz,'
        + ' a int[], b boolean)');
    for (let i = 0; i < 8; i++) {
        await c.query('INSERT INTO node_values VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', [
            i, i % 3 ? Buffer.from([0, 255, 92, 39, i]) : null, i % 4 ? `it's ${i} \u00e4\u20ac\u{1f600}` : '',
            i % 2 ? null : '12345678901234567890.5', { i, list: [1, null] }, new Date(Date.UTC(2024, 1, 29, 12, i)),
            [i, null, 3], undefined,
        ]);
    }
    const { rows } = await c.query('SELECT * FROM node_values WHERE id = $1', [1]);
    assert.ok(rows[0].x.equals(Buffer.from([0, 255, 92, 39, 1])));
    assert.strictEqual(rows[0].n, null);
    await c.query({ text: 'SELECT $1::int AS i, $2::bytea AS x', values: [1, Buffer.alloc(70000, 7)], binary: true });
    const both = await c.query('SELECT 1; SELECT 2');
    assert.strictEqual(both.length, 2);
    await c.query('');
}

async function named(c) {
    for (let i = 1; i <= 20; i++) {
        const one = { name: 'one', text: 'SELECT b FROM t WHERE a = $1', values: [i] };
        const two = { name: 'two', text: 'SELECT count(*) FROM t WHERE a <= $1::int', values: [i * 10] };
        assert.strictEqual((await c.query(one)).rows[0].b, `row ${i}`);
        assert.strictEqual((await c.query(two)).rows[0].count, String(i * 10));
    }
    await expectError('22012', c.query({ name: 'bad', text: 'SELECT 1 / ($1::int - $1::int)', values: [1] }));
    await expectError('42601', c.query({ name: 'worse', text: 'SELEC $1', values: [1] }));
    /* A portal read in parts. */
    const limited = await c.query({ text: 'SELECT a FROM t WHERE a <= $1 ORDER BY a', values: [1000], rows: 300 });
    assert.strictEqual(limited.rows.length, 1000);
    /* Queued at once: the client sends each when the one before is answered. */
    const all = await Promise.all([1, 2, 3].map((i) => c.query('SELECT $1::int AS i', [i])));
    assert.deepStrictEqual(all.map((r) => r.rows[0].i), [1, 2, 3]);
}

async function cursors(c) {
    await c.query('BEGIN');
    const cursor = c.query(new Cursor('SELECT a, b FROM t WHERE a <= $1 ORDER BY a', [1000]));
    let rows = 0;
    for (let got = await cursor.read(150); got.length > 0; got = await cursor.read(150)) {
        rows += got.length;
    }
    assert.strictEqual(rows, 1000);
    await cursor.close();
    const left = c.query(new Cursor('SELECT generate_series(1, 100000)'));
    assert.strictEqual((await left.read(10)).length, 10);
    await left.close();
    await c.query('COMMIT');
    const failing = c.query(new Cursor('SELECT 1 / (500 - a) FROM generate_series(1, 1000) AS a'));
    assert.strictEqual((await failing.read(100)).length, 100);
    await expectError('22012', failing.read(1000));
    await c.query("SELECT 'goes on'");
}

async function transaction(c) {
    await c.query('BEGIN');
    await c.query('INSERT INTO t (a, b) VALUES ($1, $2)', [90001, 'kept?']);
    await expectError('23505', c.query('INSERT INTO t (a, b) VALUES ($1, $2)', [90001, 'twice']));
    await expectError('25P02', c.query('SELECT $1::int', [1]));
    await c.query('ROLLBACK');
    await c.query('INSERT INTO t (a, b) VALUES ($1, $2)', [90001, 'kept']);
}

async function notifications(c) {
    const told = new Promise((resolve) => c.on('notification', resolve));
    await c.query('LISTEN node');
    await part('node-notify', (other) => other.query('SELECT pg_notify($1, $2)', ['node', 'hello']));
    assert.strictEqual((await told).payload, 'hello');
    await c.query('UNLISTEN node');
}

/* Each task has rows of its own, so that their order does not matter. */
async function pool() {
    const p = new Pool({ ...base, application_name: 'node-pool', max: 4 });
    await p.query('CREATE TABLE node_pool (k int PRIMARY KEY, v int)');
    await Promise.all(Array.from({ length: 40 }, async (_, k) => {
        const c = await p.connect();
        try {
            await c.query('BEGIN');
            await c.query({ name: 'put', text: 'INSERT INTO node_pool VALUES ($1, $2)', values: [k, 0] });
            await c.query('UPDATE node_pool SET v = v + $2 WHERE k = $1', [k, k]);
            await c.query(k % 5 ? 'COMMIT' : 'ROLLBACK');
        } finally {
            c.release();
        }
    }));
    const { rows } = await p.query('SELECT count(*), sum(v) FROM node_pool');
    assert.deepStrictEqual(rows[0], { count: '32', sum: '640' });
    await p.end();
}

/* As a program that is killed. */
async function dropped() {
    const c = new Client({ ...base, application_name: 'node-dropped' });
    c.on('error', () => {});
    await c.connect();
    await c.query('BEGIN');
    await c.query('INSERT INTO t (a, b) VALUES ($1, $2)', [90002, 'never committed']);
    c.connection.stream.destroy();
}

(async () => {
    await part('node-values', values);
    await part('node-named', named);
    await part('node-cursors', cursors);
    await part('node-transaction', transaction);
    await part('node-notifications', notifications);
    await pool();
    await dropped();
})().catch((e) => {
    console.error(e);
    process.exit(1);
});
