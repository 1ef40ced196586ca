/** The Swagger UI page of `effect`, as HTML. */
import { WeftApi } from "@weft/api"
import { HttpRouter } from "effect/http"
import { HttpApiSwagger } from "effect/http-api"

export const renderedHtml = async (): Promise<string> => {
  const { handler, dispose } = HttpRouter.toWebHandler(HttpApiSwagger.layer(WeftApi), { disableLogger: true })
  try {
    return await (await handler(new Request("http://localhost/docs"))).text()
  } finally {
    await dispose()
  }
}
