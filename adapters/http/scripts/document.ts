/** The committed OpenAPI document and its current text. */
import { WeftApi } from "@weft/api"
import { OpenApi } from "effect/http-api"

export const documentFile = new URL("../../../docs/openapi.json", import.meta.url)

export const documentText = (): string => `${JSON.stringify(OpenApi.fromApi(WeftApi), null, 2)}\n`
