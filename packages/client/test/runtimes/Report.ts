/** Input and report of a program in another runtime. */
export interface ExerciseInput {
  readonly baseUrl: string
  readonly token: string
}

export interface Report {
  /** The error of a failed program, whose report has no other fields. */
  readonly failure?: string
  readonly agent: string
  /** Acknowledged bytes, in order. */
  readonly progress: ReadonlyArray<number>
  readonly partsAtOnce: number
  readonly isSame: boolean
  readonly parts: number
  readonly streamed: string
  readonly watched: ReadonlyArray<string>
  /** Number of disconnects after which the subscription continued. */
  readonly interruptions: number
  readonly fromEnv: string
  readonly listed: number
  readonly code: string
  readonly aborted: string
}
