/**
 * Event counts of the host's transactions.
 *
 * A host transaction that updated `event_counts` would lock rows that many publishers change until it ends. Instead, a
 * deferred trigger updates the counts on commit, once for all events of the transaction, and in the common lock order.
 */
export const arrivals: ReadonlyArray<string> = [
  `CREATE UNLOGGED TABLE event_arrivals (
    xid BIGINT NOT NULL DEFAULT txid_current(), env_id TEXT COLLATE "C" NOT NULL, event_type TEXT COLLATE "C" NOT NULL,
    n BIGINT NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)`,
  `CREATE INDEX event_arrivals_of_transaction ON event_arrivals (xid)`,
  `CREATE FUNCTION count_arrivals() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      WITH arrived AS (DELETE FROM event_arrivals WHERE xid = txid_current() RETURNING env_id, event_type, n)
      INSERT INTO event_counts (env_id, event_type, n)
        SELECT env_id, event_type, sum(n) FROM arrived GROUP BY env_id, event_type ORDER BY env_id, event_type
        ON CONFLICT (env_id, event_type) DO UPDATE SET n = event_counts.n + excluded.n;
      RETURN NULL;
    END $$`,
  `CREATE CONSTRAINT TRIGGER count_arrivals AFTER INSERT ON event_arrivals DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION count_arrivals()`
]
