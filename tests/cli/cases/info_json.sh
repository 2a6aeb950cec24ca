pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse info --format json small.trace |
    jq '.[0] | {kind, complete, sessions, statements, failed, gaps, started_at, duration_s}'
pgrehearse info --format json small.trace small.trace | jq length
pgrehearse info --format json small.trace | jq ".[0].bytes == $(stat -c %s small.trace)"
