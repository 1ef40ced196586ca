/** What the webhook suite asks of a contender: one function behind HTTP, and fifty more, each a deployment of its own. */
import type { Installation } from "../Suite.ts"

export interface HookServer {
  /** Answers GET and POST as `answer` says. */
  readonly url: string
  /** The same function, `builds` times: nothing is shared that is not shared between users' deployments. */
  readonly manyUrls: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export interface HookTarget {
  readonly name: string
  readonly isLimit?: boolean
  readonly needs?: Installation
  /** Version, what it records of a call and how durably, what was tuned. Asked when it has started. */
  readonly settings: () => string
  readonly start: (builds: number) => Promise<HookServer>
}

export const indexes = (builds: number): ReadonlyArray<number> => Array.from({ length: builds }, (_, index) => index)
