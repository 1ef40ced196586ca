/** `URLPattern`, by the package `urlpattern-polyfill`. */
import { URLPattern } from "urlpattern-polyfill/urlpattern"

platform.define().brand({ URLPattern })

export { URLPattern }
