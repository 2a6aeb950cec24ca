pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
# The identity is new each time, and with it sizes may differ by some bytes.
pgrehearse info small.trace | sed -E -e 's/[0-9a-f]{8}-[0-9a-f-]{27}/UUID/' -e 's/[0-9.,]+ (kB|bytes?|B)/N \1/g'
