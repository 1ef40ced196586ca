/** Annotations of endpoints for the OpenAPI document. */
import type { Context } from "effect"
import { OpenApi } from "effect/http-api"

export const summary = (text: string): Context.Context<never> => OpenApi.annotations({ summary: text })

/** Annotates an endpoint that is an extension of the specification. */
export const extension = (text: string): Context.Context<never> =>
  OpenApi.annotations({ summary: text, override: { "x-weft-extension": true } })

export const tag = (title: string, description: string): Context.Context<never> =>
  OpenApi.annotations({ title, description })
