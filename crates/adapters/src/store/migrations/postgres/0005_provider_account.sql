-- The provider and its account that were asked for the card: what became of it is looked
-- for there and nowhere else.

ALTER TABLE orders ADD COLUMN provider_account TEXT;
