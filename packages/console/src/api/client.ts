/** The client of the API. The credential is the cookie of the page, or in a frame the session of the host. */
import { createClient } from "@weft/client"
import { isEmbedded } from "../embed/Host.ts"
import { consoleFetch } from "./consoleFetch.ts"
import { apiOrigin, consolePath } from "./consoleUrl.ts"

export const weft = createClient({ baseUrl: isEmbedded ? apiOrigin : `${consolePath}/api`, fetch: consoleFetch })
