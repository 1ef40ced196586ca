/** Requests of the page: with the header that other origins cannot send, and a notice when the session has ended. */
import { prefix } from "./consoleUrl.ts"

let onSignedOut: () => void = () => undefined

/** Sets the function that runs when the server rejects the session. */
export const setSignedOutHandler = (handler: () => void): void => {
  onSignedOut = handler
}

export const consoleFetch: typeof fetch = async (input, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set("x-weft-console", "1")
  if (prefix !== "") headers.set("x-weft-prefix", prefix)
  const response = await fetch(input, { ...init, headers, credentials: "same-origin" })
  if (response.status === 401) onSignedOut()
  return response
}
