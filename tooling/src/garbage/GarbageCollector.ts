import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/**
 * Returns V8's function that collects all garbage of this process at once.
 * The flag that exposes it holds for a process and its later contexts, guests' included, so it is taken back.
 */
const exposed = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  setFlagsFromString("--no-expose-gc")
  return collect
}

/** Collects all garbage of this process, and returns when that is done. */
export const collectGarbage = exposed()
