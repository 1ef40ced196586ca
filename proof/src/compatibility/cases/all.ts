/** All cases, by area. */
import type { Area } from "../Case.ts"
import { ai } from "./ai.ts"
import { data } from "./data.ts"
import { documents } from "./documents.ts"
import { formats } from "./formats.ts"
import { http } from "./http.ts"
import { services } from "./services.ts"
import { tools } from "./tools.ts"

export const areas: ReadonlyArray<Area> = [http, ai, services, data, formats, documents, tools]
