/**
 * Check of the origin of web pages, against DNS rebinding. The name of an attacker's page may resolve to this host. The page
 * then sends its own name as `Host` and `Origin`, so equal names prove nothing, except for those of the loopback.
 */
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

export interface OriginRules {
  readonly allowed: ReadonlyArray<string>
  readonly publicUrl: string | null
}

/** True if the page may send messages. Programs send no `Origin`. */
export const isAllowedOrigin = (
  origin: string | undefined,
  host: string | undefined,
  { allowed, publicUrl }: OriginRules
): boolean => {
  if (origin === undefined || allowed.includes(origin)) return true
  if (!URL.canParse(origin)) return false
  if (publicUrl !== null && URL.canParse(publicUrl) && new URL(publicUrl).origin === origin) return true
  const page = new URL(origin)
  return page.host === host && loopback.has(page.hostname)
}
