/** Indexes that show if a stream exists. */
export const streams: ReadonlyArray<string> = [
  `CREATE INDEX events_of_stream ON events (env_id, stream_id)`,
  // Other runs belong to the streams of their events.
  `CREATE INDEX runs_of_stream ON runs (env_id, stream_id) WHERE event_id IS NULL`
]
