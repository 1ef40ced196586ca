/** Negotiation of content codings (RFC 9110, section 12.5.3). */

export type ContentCoding = "br" | "zstd" | "gzip"

/** Maximum characters of the header that are read. */
const lengthMax = 1024

/**
 * Returns the coding of `supported` that the client prefers, or null for none. Codings of equal weight are chosen in the
 * order of `supported`.
 */
export const chooseCoding = (
  header: string | undefined,
  supported: ReadonlyArray<ContentCoding>
): ContentCoding | null => {
  if (header === undefined || header.length > lengthMax) return null
  const weights = readWeights(header)
  const others = weights.get("*") ?? 0
  let chosen: ContentCoding | null = null
  let best = 0
  for (const coding of supported) {
    const weight = weights.get(coding) ?? (coding === "gzip" ? weights.get("x-gzip") : undefined) ?? others
    if (weight > best) {
      chosen = coding
      best = weight
    }
  }
  // Without an own entry, `identity` is acceptable, but a listed coding is preferred.
  return best < (weights.get("identity") ?? 0) ? null : chosen
}

/** Returns the weights, 0 to 1, by lowercase coding. Ignores entries that are not valid. */
const readWeights = (header: string): ReadonlyMap<string, number> => {
  const weights = new Map<string, number>()
  for (const entry of header.split(",")) {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1"
    if (coding !== "" && /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight)) weights.set(coding, Number(weight))
  }
  return weights
}
