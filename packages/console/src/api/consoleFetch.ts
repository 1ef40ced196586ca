/** Requests of the page: with its credential, and a notice when the session has ended. */

import { hostToken, isEmbedded, requestHostSession } from "../embed/Host.ts"
import { prefix } from "./consoleUrl.ts"

let onSignedOut: () => void = () => undefined

/** Sets the function that runs when the server rejects the session. */
export const setSignedOutHandler = (handler: () => void): void => {
  onSignedOut = handler
}

export const consoleFetch: typeof fetch = async (input, init = {}) => {
  const response = await (isEmbedded ? fetchAsHost(input, init) : fetchWithCookie(input, init))
  if (response.status === 401) onSignedOut()
  return response
}

/** Sends the cookie, with the header that other origins cannot send. */
const fetchWithCookie: typeof fetch = (input, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set("x-weft-console", "1")
  if (prefix !== "") headers.set("x-weft-prefix", prefix)
  return fetch(input, { ...init, headers, credentials: "same-origin" })
}

/** Sends the session of the host. After its end, requests another one and sends the request again. */
const fetchAsHost: typeof fetch = async (input, init = {}) => {
  const send = () => {
    const headers = new Headers(init.headers)
    headers.set("authorization", `Bearer ${hostToken()}`)
    return fetch(input, { ...init, headers, credentials: "omit" })
  }
  const response = await send()
  if (response.status !== 401) return response
  const isRenewed = await requestHostSession().then(
    () => true,
    () => false
  )
  return isRenewed ? send() : response
}
