-- Quoted and forwarded lines of a mail that stand nowhere else in its conversation. Search finds it by them.
ALTER TABLE messages ADD COLUMN quoted TEXT;
