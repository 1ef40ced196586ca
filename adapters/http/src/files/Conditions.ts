/** Conditional requests (RFC 9110, section 13) for what can only be read. */

/** What is known of the representation that a condition is about. */
export interface Validators {
  /** Quoted and strong. */
  readonly etag: string
  /** Epoch milliseconds; null where nothing is known. */
  readonly modifiedAt: number | null
}

type Headers = Readonly<Record<string, string | undefined>>

/** What the conditions come to, in the order in which they are to be judged. */
export const judgeConditions = (headers: Headers, validators: Validators): "Read" | "Unmodified" | "Failed" => {
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

/** Whether a `Range` counts: without `If-Range` always, with it when the client has part of these very bytes. */
export const allowsRange = (headers: Headers, { etag, modifiedAt }: Validators, now: number): boolean => {
  const condition = headers["if-range"]?.trim()
  if (condition === undefined) return true
  if (condition.startsWith('"')) return condition === etag
  // A date tells contents apart only when nothing could be modified again within its second.
  return modifiedAt !== null && condition === httpDate(modifiedAt) && now - modifiedAt >= 2000
}

/** `Sat, 31 Jan 2026 12:00:00 GMT` */
export const httpDate = (epochMillis: number): string => new Date(epochMillis).toUTCString()

/** A list of entity tags, or `*` for any. Weak ones count where only freshness is at stake. */
const matches = (list: string, etag: string, weak: boolean): boolean =>
  list.trim() === "*" ||
  (list.match(/(?:W\/)?"[^"]*"/g) ?? []).some((one) => (weak && one.startsWith("W/") ? one.slice(2) : one) === etag)

/** Undefined where the header says nothing. Dates have seconds. */
const isModifiedSince = (header: string | undefined, { modifiedAt }: Validators): boolean | undefined => {
  const since = header === undefined ? Number.NaN : Date.parse(header)
  return modifiedAt === null || Number.isNaN(since) ? undefined : Math.floor(modifiedAt / 1000) * 1000 > since
}
