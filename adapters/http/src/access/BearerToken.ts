/** Parser of the `Authorization` header for routes outside `HttpApi`. */

/** Returns the token of `Authorization: Bearer <token>`, or null. The scheme's name is case-insensitive. */
export const bearerToken = (authorization: string | undefined): string | null => {
  if (authorization === undefined || authorization.length < 8) return null
  if (authorization.slice(0, 7).toLowerCase() !== "bearer ") return null
  return authorization.slice(7).trim() || null
}
