/** Preconditions of requests (RFC 9110, section 13) for GET and HEAD. */

/** Validators of the selected representation. */
export interface Validators {
  /** Quoted and strong. */
  readonly etag: string
  /** Epoch milliseconds, or null if unknown. */
  readonly modifiedAt: number | null
}

type Headers = Readonly<Record<string, string | undefined>>

/** Evaluates the preconditions in the order of RFC 9110, section 13.2.2. */
export const evaluatePreconditions = (headers: Headers, validators: Validators): "Read" | "Unmodified" | "Failed" => {
  const ifMatch = headers["if-match"]
  const ifNoneMatch = headers["if-none-match"]
  if (ifMatch !== undefined) {
    if (!matches(ifMatch, validators.etag, false)) return "Failed"
  } else if (isModifiedSince(headers["if-unmodified-since"], validators) === true) {
    return "Failed"
  }
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, validators.etag, true) ? "Unmodified" : "Read"
  return isModifiedSince(headers["if-modified-since"], validators) === false ? "Unmodified" : "Read"
}

/** True if `Range` applies: always without `If-Range`, else only if the validator matches. */
export const allowsRange = (headers: Headers, { etag, modifiedAt }: Validators, now: number): boolean => {
  const condition = headers["if-range"]?.trim()
  if (condition === undefined) return true
  if (condition.startsWith('"')) return condition === etag
  // A date is a strong validator only if the content cannot have changed again within the same second.
  return modifiedAt !== null && condition === httpDate(modifiedAt) && now - modifiedAt >= 2000
}

/** `Sat, 31 Jan 2026 12:00:00 GMT` */
export const httpDate = (epochMillis: number): string => new Date(epochMillis).toUTCString()

/** True if a list of entity tags, or `*`, matches. Weak tags match only in weak comparison. */
const matches = (list: string, etag: string, weak: boolean): boolean =>
  list.trim() === "*" ||
  (list.match(/(?:W\/)?"[^"]*"/g) ?? []).some((one) => (weak && one.startsWith("W/") ? one.slice(2) : one) === etag)

/** Returns undefined without a valid date in the header. Compares whole seconds, as HTTP dates have no fractions. */
const isModifiedSince = (header: string | undefined, { modifiedAt }: Validators): boolean | undefined => {
  const since = header === undefined ? Number.NaN : Date.parse(header)
  return modifiedAt === null || Number.isNaN(since) ? undefined : Math.floor(modifiedAt / 1000) * 1000 > since
}
