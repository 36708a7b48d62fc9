ALTER TABLE conversation_words RENAME TO conversation_index;
