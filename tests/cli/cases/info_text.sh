pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
# The identity and the time are new each time, and with them sizes may differ by some bytes.
pgrehearse info small.trace | sed -E -e 's/[0-9a-f]{8}-[0-9a-f-]{27}/UUID/' -e 's/^(  made +)[^ ]+/\1TIME/' \
    -e 's/[0-9.,]+ (kB|bytes?)/SIZE/g'
