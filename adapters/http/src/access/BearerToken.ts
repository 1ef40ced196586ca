/** The `Authorization` header, where no endpoint of `effect` reads it. */

/** The token of `Authorization: Bearer <token>`, or null. The scheme's name has no case. */
export const bearerToken = (authorization: string | undefined): string | null => {
  if (authorization === undefined || authorization.length < 8) return null
  if (authorization.slice(0, 7).toLowerCase() !== "bearer ") return null
  return authorization.slice(7).trim() || null
}
