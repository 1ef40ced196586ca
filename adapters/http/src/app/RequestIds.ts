/** Ids of requests: UUIDv7, ascending. */
import { makeUuidV7 } from "@weft/core"

export const makeRequestIds = (): (() => string) =>
  makeUuidV7(
    () => Date.now(),
    (count) => crypto.getRandomValues(new Uint8Array(count))
  )
