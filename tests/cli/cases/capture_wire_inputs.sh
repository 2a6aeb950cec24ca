# Files in any order, one capture cut in two, compressed, from a pipe; and what is no capture.
statements() {
    pgrehearse capture wire -q --server-port 23082 -o x.trace "$@"; echo "status $?"
    [ ! -e x.trace ] || pgrehearse show x.trace | jq -c 'select(.ordinal) | [.session, .sql]' | cksum
    rm -f x.trace
}
statements -r "$DATA/small.pcap"
statements -r - <"$DATA/small.pcap"
gzip -c "$DATA/small.pcap" >small.pcap.gz
statements -r small.pcap.gz
# A packet is 16 bytes of header, of which the third word is its length.
at=24
for _ in {1..30}; do
    at=$((at + 16 + $(od -An -tu4 -j $((at + 8)) -N4 "$DATA/small.pcap")))
done
head -c $at "$DATA/small.pcap" >z_first.pcap
{ head -c 24 "$DATA/small.pcap"; tail -c +$((at + 1)) "$DATA/small.pcap"; } >a_second.pcap
statements -r a_second.pcap z_first.pcap
statements -r a_second.pcap -r z_first.pcap
statements -r z_first.pcap z_first.pcap
statements -r - small.pcap.gz
# Cut within a packet: the rest is captured, and the summary says so.
head -c 9000 "$DATA/small.pcap" >cut.pcap
pgrehearse capture wire --server-port 23082 -o x.trace -r cut.pcap 2>&1 | grep -e 'of the files' -e '^statements' -e error; rm -f x.trace
statements -r "$DATA/small.csv"
statements -r absent.pcap
: >empty.pcap; statements -r empty.pcap
head -c 24 "$DATA/small.pcap" >none.pcap; statements -r none.pcap
pgrehearse capture wire -q -o x.trace -r "$DATA/small.pcap"; echo "status $?"
# Options of the other kind of capture.
pgrehearse capture wire -o x.trace; echo "status $?"
pgrehearse capture wire -r "$DATA/small.pcap"; echo "status $?"
pgrehearse capture wire --format csv -o x.trace -r "$DATA/small.pcap"; echo "status $?"
pgrehearse capture wire --server db:1 -o x.trace -r "$DATA/small.pcap"; echo "status $?"
pgrehearse capture log -r "$DATA/small.pcap" -o x.trace "$DATA/small.csv"; echo "status $?"
pgrehearse capture log --server-port 1 -o x.trace "$DATA/small.csv"; echo "status $?"
for port in 0 65536 x 1x; do pgrehearse capture wire --server-port $port -o x.trace -r f; echo "status $?"; done
ls
