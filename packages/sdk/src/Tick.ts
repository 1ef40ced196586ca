/** What a schedule calls its function with. */
export interface Tick {
  readonly schedule_id: string
  /** When it was due: ISO 8601, UTC. */
  readonly scheduled_time: string
  readonly cron: string
}
