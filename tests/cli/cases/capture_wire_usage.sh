# What does not go together, and limits that are none.
for options in '' '-i lo -r a.pcap' '-i lo a.pcap' '-r a.pcap --run-as nobody' '-r a.pcap --buffer 8MB' '-i lo --rotate 10' \
    '-i lo --rotate 0MB' '-i lo --stop-after 1fortnight' '-i lo --stop-after 0s' '-i lo --buffer 1kB' \
    '-i lo --buffer 4GB' '-r a.pcap --filter host' '-r a.pcap --server-port 0'; do
    echo "wire $options"
    # shellcheck disable=SC2086
    pgrehearse capture wire $options -o T.trace 2>&1; echo "status $?"
done
pgrehearse capture wire -i lo 2>&1; echo "status $?"
pgrehearse capture wire -r a.pcap --rotate 1h -o - 2>&1; echo "status $?"
for options in '-i lo' '--filter tcp' '--buffer 8MB' '--run-as nobody' '--rotate 1h' '--stop-after 1GB'; do
    # shellcheck disable=SC2086
    pgrehearse capture log $options -o T.trace a.csv 2>&1; echo "status $?"
done
ls
