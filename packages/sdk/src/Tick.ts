/** Argument of a scheduled function. */
export interface Tick {
  readonly schedule_id: string
  /** Due time, ISO 8601, UTC. */
  readonly scheduled_time: string
  readonly cron: string
}
