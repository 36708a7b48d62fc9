-- A conversation's words stand without the four characters of its workspace, which each of them
-- had in front, as the first shows.
UPDATE conversation_words SET words = replace(words, substr(words, 1, 5), char(10)) WHERE words <> '';
