/** SDKs of AI services. */
import type { Area } from "../Case.ts"

const completion = {
  id: "c1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "hello" } }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
}

export const ai: Area = {
  name: "AI SDKs",
  cases: [
    {
      name: "openai",
      code: `import OpenAI from "openai"
        export const main = async () => {
          const client = new OpenAI({ apiKey: "k" })
          const { choices } = await client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "hi" }] })
          return choices[0].message.content
        }`,
      reply: { body: completion },
      expected: "hello"
    },
    {
      name: "openai (stream)",
      code: `import OpenAI from "openai"
        export const main = async () => {
          const stream = await new OpenAI({ apiKey: "k" }).chat.completions.create({ model: "m", stream: true, messages: [] })
          let text = ""
          for await (const { choices } of stream) text += choices[0].delta.content
          return text
        }`,
      reply: {
        headers: { "content-type": "text/event-stream" },
        body: 'data: {"choices":[{"delta":{"content":"hel"}}]}\n\ndata: {"choices":[{"delta":{"content":"lo"}}]}\n\ndata: [DONE]\n\n'
      },
      expected: "hello"
    },
    {
      name: "@anthropic-ai/sdk",
      code: `import Anthropic from "@anthropic-ai/sdk"
        export const main = async () => {
          const { content } = await new Anthropic({ apiKey: "k" }).messages.create({ model: "m", max_tokens: 5, messages: [{ role: "user", content: "hi" }] })
          return content[0].text
        }`,
      reply: {
        body: {
          id: "m1",
          type: "message",
          role: "assistant",
          content: [{ type: "text", text: "hello" }],
          model: "m",
          stop_reason: "end_turn",
          usage: { input_tokens: 1, output_tokens: 1 }
        }
      },
      expected: "hello"
    },
    {
      name: "@google/generative-ai",
      code: `import { GoogleGenerativeAI } from "@google/generative-ai"
        export const main = async () => {
          const model = new GoogleGenerativeAI("k").getGenerativeModel({ model: "m" })
          return (await model.generateContent("hi")).response.text()
        }`,
      reply: {
        body: { candidates: [{ content: { role: "model", parts: [{ text: "hello" }] }, finishReason: "STOP" }] }
      },
      expected: "hello"
    },
    {
      name: "ai",
      packages: ["ai", "@ai-sdk/openai", "zod"],
      code: `import { generateText } from "ai"
        import { createOpenAI } from "@ai-sdk/openai"
        export const main = async () => (await generateText({ model: createOpenAI({ apiKey: "k" }).chat("m"), prompt: "hi" })).text`,
      reply: { body: completion },
      expected: "hello"
    },
    {
      name: "@mistralai/mistralai",
      code: `import { Mistral } from "@mistralai/mistralai"
        export const main = async () => (await new Mistral({ apiKey: "k" }).chat.complete({ model: "m", messages: [{ role: "user", content: "hi" }] })).choices[0].message.content`,
      reply: { body: completion },
      expected: "hello"
    },
    {
      name: "cohere-ai",
      code: `import { CohereClientV2 } from "cohere-ai"
        export const main = async () => (await new CohereClientV2({ token: "k" }).chat({ model: "m", messages: [{ role: "user", content: "hi" }] })).message.content[0].text`,
      reply: {
        body: {
          id: "1",
          finish_reason: "COMPLETE",
          message: { role: "assistant", content: [{ type: "text", text: "hello" }] }
        }
      },
      expected: "hello"
    },
    {
      name: "@langchain/core",
      code: `import { ChatPromptTemplate } from "@langchain/core/prompts"
        import { RunnableLambda } from "@langchain/core/runnables"
        export const main = async () => {
          const prompt = ChatPromptTemplate.fromTemplate("Write a joke for {name}")
          const chain = prompt.pipe(RunnableLambda.from(async (value) => value.toChatMessages()[0].content))
          return chain.invoke({ name: "Ada" })
        }`,
      expected: "Write a joke for Ada"
    },
    {
      name: "gpt-tokenizer",
      code: `import { decode, encode } from "gpt-tokenizer"
        export const main = () => [encode("hello world").length, decode(encode("hello world"))]`,
      expected: [2, "hello world"]
    },
    {
      name: "replicate",
      code: `import Replicate from "replicate"
        export const main = async () => (await new Replicate({ auth: "k" }).predictions.get("p1")).status`,
      reply: { body: { id: "p1", status: "succeeded" } },
      expected: "succeeded"
    }
  ]
}
