/* a /* b */ c */ select 1 -- d
 + 2 /* open