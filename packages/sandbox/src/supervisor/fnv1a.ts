/** Returns the FNV-1a hash of the text, below 2^32. `seed` gives different hashes of one text. */
export const fnv1a = (text: string, seed = 0): number => {
  let state = 2166136261 ^ seed
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 16777619)
  // FNV alone mixes the last characters poorly into the high bits.
  state = Math.imul(state ^ (state >>> 15), 2246822507)
  return (state ^ (state >>> 13)) >>> 0
}
