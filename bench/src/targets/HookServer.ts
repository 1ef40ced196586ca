/** The interface of contenders of the webhook suite: one function behind HTTP, and 50 more in separate deployments. */
import type { Installation } from "../Suite.ts"

export interface HookServer {
  /** URL of the function, for GET and POST; it responds like `answer`. */
  readonly url: string
  /** URLs of `builds` deployments of the same function, which share nothing that deployments of users do not share. */
  readonly manyUrls: ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export interface HookTarget {
  readonly name: string
  readonly isLimit?: boolean
  readonly needs?: Installation
  /** Returns version, recorded data, durability and tuning. Called after the start. */
  readonly settings: () => string
  readonly start: (builds: number) => Promise<HookServer>
}

export const indexes = (builds: number): ReadonlyArray<number> => Array.from({ length: builds }, (_, index) => index)
