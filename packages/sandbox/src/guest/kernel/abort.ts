/** Abort controllers of the platform, for signals of the kernel. */
import { getProperty } from "./primordials.ts"

export interface AbortControllerLike {
  readonly signal: unknown
  readonly abort: (reason: unknown) => void
}

export const makeAbortController = (): AbortControllerLike => {
  const AbortController: new () => AbortControllerLike = getProperty(globalThis, "AbortController")
  return new AbortController()
}
