# Literals are for the page that asks for them, and nothing else shows them.
report_files base.run candidate.run 13 20
pgrehearse diff --with-examples base.run candidate.run; echo "status $?"
pgrehearse diff --format html base.run candidate.run | grep -c 'secret-'
pgrehearse diff --format html --with-examples base.run candidate.run | grep -o '"text":"select id, customer_id[^,]*, status, total_cents from orders_0 [^}]*'
