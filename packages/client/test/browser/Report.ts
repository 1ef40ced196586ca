/** What the page in the browser is given, and what it tells in the end. */
export interface Given {
  readonly token: string
}

export interface Report {
  readonly failure?: string
  readonly agent: string
  /** Bytes acknowledged, in order. */
  readonly progress: ReadonlyArray<number>
  readonly partsAtOnce: number
  readonly isSame: boolean
  readonly parts: number
  readonly streamed: string
  readonly watched: ReadonlyArray<string>
  readonly fromEnv: string
  readonly listed: number
  readonly code: string
  readonly aborted: string
}
