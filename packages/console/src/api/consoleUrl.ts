/** The address of the console. The server sets the element `base`, so the page works behind every path prefix. */

/** Ends with `/console/`. */
const baseUrl = new URL(document.baseURI)

/** Path of the console without a slash at the end, such as `/automation/console`. */
export const consolePath = baseUrl.pathname.replace(/\/$/, "")

/** Path of the API's root, such as `/automation`; empty without a prefix. */
export const prefix = consolePath.replace(/\/console$/, "")

/** Address of the API for other programs, such as `https://example.com/automation`. */
export const apiOrigin = `${baseUrl.origin}${prefix}`
