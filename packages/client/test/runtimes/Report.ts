/** What a program in another runtime is given, and what it tells in the end. */
export interface Given {
  readonly baseUrl: string
  readonly token: string
}

export interface Report {
  /** Why it did not come to its end; all else is missing then. */
  readonly failure?: string
  readonly agent: string
  /** Bytes acknowledged, in order. */
  readonly progress: ReadonlyArray<number>
  readonly partsAtOnce: number
  readonly isSame: boolean
  readonly parts: number
  readonly streamed: string
  readonly watched: ReadonlyArray<string>
  /** How often a subscription was cut off and came back. */
  readonly interruptions: number
  readonly fromEnv: string
  readonly listed: number
  readonly code: string
  readonly aborted: string
}
