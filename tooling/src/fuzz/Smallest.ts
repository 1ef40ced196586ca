/** Minimizes a failing input. */

/** Removes pieces of decreasing size while the input still fails. Runs at most `triesMax` inputs. */
export const smallest = async (
  input: Uint8Array,
  fails: (input: Uint8Array) => Promise<boolean>,
  triesMax = 400
): Promise<Uint8Array> => {
  let best = input
  let tries = 0
  for (let piece = Math.ceil(best.length / 2); piece >= 1; piece = piece === 1 ? 0 : Math.ceil(piece / 2)) {
    for (let at = 0; at < best.length; ) {
      if (++tries > triesMax) return best
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + piece)])
      if (await fails(shorter)) best = shorter
      else at += piece
    }
  }
  return best
}
