/** The client of the API, with the cookie of the page as credential. */
import { createClient } from "@weft/client"
import { consoleFetch } from "./consoleFetch.ts"
import { consolePath } from "./consoleUrl.ts"

export const weft = createClient({ baseUrl: `${consolePath}/api`, fetch: consoleFetch })
