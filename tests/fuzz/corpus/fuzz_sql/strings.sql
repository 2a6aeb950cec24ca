select 'it''s', E'a\'b', U&'d\0061' UESCAPE '!', $$x$$, $a$ $b$ $a$, b'01', X'1f', n'x', 'a'
-- c
'b', 'open