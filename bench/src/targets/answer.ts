/** What the function of the webhook suite answers, in every contender alike. */
export const answer = (request: { readonly body: { readonly items?: ReadonlyArray<unknown> } | null }): unknown => ({
  hello: "world",
  items: request.body?.items?.length ?? 0
})
