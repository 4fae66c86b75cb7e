-- +goose Up

-- Whether a receipt that comes from elsewhere is here already. The receipt is
-- before the branch, so that the folds of a branch are still found in their order.
CREATE INDEX receipts_known ON receipts (conversation_id, receipt, branch);
