/** Clients of services: payment, mail, messages, source code, storage. */
import type { Area } from "../Case.ts"

export const services: Area = {
  name: "payment, mail and services",
  cases: [
    {
      name: "stripe",
      code: `import Stripe from "stripe"
        export const main = async () => {
          const stripe = new Stripe("sk_test_1")
          const { id } = await stripe.customers.create({ email: "ada@example.test" })
          const payload = JSON.stringify({ id: "evt_1", object: "event", type: "charge.succeeded" })
          const header = await stripe.webhooks.generateTestHeaderStringAsync({ payload, secret: "whsec_1" })
          const event = await stripe.webhooks.constructEventAsync(payload, header, "whsec_1")
          return [id, event.type]
        }`,
      reply: { body: { id: "cus_1", object: "customer" } },
      expected: ["cus_1", "charge.succeeded"]
    },
    {
      name: "resend",
      code: `import { Resend } from "resend"
        export const main = async () => (await new Resend("re_1").emails.send({ from: "a@example.test", to: "b@example.test", subject: "s", html: "<p>hi</p>" })).data.id`,
      reply: { body: { id: "mail_1" } },
      expected: "mail_1"
    },
    {
      name: "@sendgrid/mail",
      code: `import mail from "@sendgrid/mail"
        export const main = async () => {
          mail.setApiKey("SG.1")
          const [{ statusCode }] = await mail.send({ to: "b@example.test", from: "a@example.test", subject: "s", text: "t" })
          return statusCode
        }`,
      reply: { status: 202, body: "" },
      expected: 202
    },
    {
      name: "postmark",
      code: `import { ServerClient } from "postmark"
        export const main = async () => (await new ServerClient("k").sendEmail({ From: "a@example.test", To: "b@example.test", Subject: "s", TextBody: "t" })).MessageID`,
      reply: { body: { To: "b@example.test", MessageID: "m1", ErrorCode: 0, Message: "OK" } },
      expected: "m1"
    },
    {
      name: "nodemailer",
      code: `import nodemailer from "nodemailer"
        export const main = async () => {
          const transport = nodemailer.createTransport({ streamTransport: true, buffer: true, newline: "unix" })
          const { message } = await transport.sendMail({ from: "a@example.test", to: "b@example.test", subject: "Grüße", text: "hello", attachments: [{ filename: "a.txt", content: "data" }] })
          const text = message.toString()
          return [text.includes("Subject: =?UTF-8?Q?Gr=C3=BC=C3=9Fe?="), text.includes("filename=a.txt")]
        }`,
      expected: [true, true]
    },
    {
      name: "twilio",
      code: `import twilio from "twilio"
        export const main = async () => (await twilio("AC00000000000000000000000000000000", "t").messages.create({ to: "+1", from: "+2", body: "hi" })).sid`,
      reply: { status: 201, body: { sid: "SM1", date_created: null } },
      expected: "SM1"
    },
    {
      name: "@slack/web-api",
      code: `import { WebClient } from "@slack/web-api"
        export const main = async () => (await new WebClient("xoxb-1").chat.postMessage({ channel: "C1", text: "hi" })).ts`,
      reply: { body: { ok: true, ts: "1.2" } },
      expected: "1.2"
    },
    {
      name: "@octokit/rest",
      code: `import { Octokit } from "@octokit/rest"
        export const main = async () => (await new Octokit({ auth: "t" }).rest.issues.get({ owner: "o", repo: "r", issue_number: 1 })).data.title`,
      reply: { body: { title: "Bug" } },
      expected: "Bug"
    },
    {
      name: "@octokit/webhooks",
      code: `import { Webhooks } from "@octokit/webhooks"
        export const main = async () => {
          const hooks = new Webhooks({ secret: "s" })
          const signature = await hooks.sign('{"a":1}')
          return [signature.slice(0, 10), await hooks.verify('{"a":1}', signature)]
        }`,
      expected: ["sha256=37b", true]
    },
    {
      name: "@notionhq/client",
      code: `import { Client } from "@notionhq/client"
        export const main = async () => (await new Client({ auth: "t" }).users.me({})).name`,
      reply: { body: { object: "user", name: "Ada" } },
      expected: "Ada"
    },
    {
      name: "@aws-sdk/client-s3",
      code: `import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3"
        export const main = async () => {
          const client = new S3Client({ region: "eu-west-1", credentials: { accessKeyId: "a", secretAccessKey: "b" } })
          return (await client.send(new PutObjectCommand({ Bucket: "b", Key: "k", Body: "hello" }))).ETag
        }`,
      reply: { body: "", headers: { etag: '"e1"' } },
      expected: '"e1"'
    },
    {
      name: "@aws-sdk/client-dynamodb",
      code: `import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb"
        export const main = async () => {
          const client = new DynamoDBClient({ region: "eu-west-1", credentials: { accessKeyId: "a", secretAccessKey: "b" } })
          return (await client.send(new GetItemCommand({ TableName: "t", Key: { id: { S: "1" } } }))).Item.name.S
        }`,
      reply: { body: { Item: { name: { S: "Ada" } } } },
      expected: "Ada"
    },
    {
      name: "aws4fetch",
      code: `import { AwsClient } from "aws4fetch"
        export const main = async () => {
          const client = new AwsClient({ accessKeyId: "a", secretAccessKey: "b" })
          const request = await client.sign("https://sqs.eu-west-1.amazonaws.com/q", { aws: { datetime: "20240101T000000Z" } })
          return request.headers.get("authorization").slice(0, 40)
        }`,
      expected: "AWS4-HMAC-SHA256 Credential=a/20240101/e"
    },
    {
      name: "@supabase/supabase-js",
      code: `import { createClient } from "@supabase/supabase-js"
        export const main = async () => {
          const { data } = await createClient("https://x.example.test", "key", { auth: { persistSession: false, autoRefreshToken: false } }).from("people").select("name").eq("id", 1)
          return data
        }`,
      reply: { body: [{ name: "Ada" }] },
      expected: [{ name: "Ada" }]
    },
    {
      name: "googleapis-common",
      packages: ["google-auth-library"],
      code: `import { OAuth2Client } from "google-auth-library"
        export const main = () => new OAuth2Client("id", "secret", "https://a.example.test/back").generateAuthUrl({ scope: ["email"] })`,
      expected:
        "https://accounts.google.com/o/oauth2/v2/auth?scope=email&response_type=code&client_id=id&redirect_uri=https%3A%2F%2Fa.example.test%2Fback"
    },
    {
      name: "@hubspot/api-client",
      code: `import { Client } from "@hubspot/api-client"
        export const main = async () => (await new Client({ accessToken: "t" }).crm.contacts.basicApi.getById("1")).id`,
      reply: {
        body: { id: "1", properties: {}, createdAt: "2024-01-01T00:00:00Z", updatedAt: "2024-01-01T00:00:00Z" }
      },
      expected: "1"
    },
    {
      name: "algoliasearch",
      code: `import { algoliasearch } from "algoliasearch"
        export const main = async () => (await algoliasearch("APP", "key").searchSingleIndex({ indexName: "i", searchParams: { query: "a" } })).nbHits`,
      reply: { body: { hits: [], nbHits: 3, page: 0 } },
      expected: 3
    },
    {
      name: "contentful",
      code: `import { createClient } from "contentful"
        export const main = async () => (await createClient({ space: "s", accessToken: "t" }).getEntry("1").catch((error) => error.name))`,
      reply: { status: 404, body: { sys: { type: "Error", id: "NotFound" } } },
      expected: "NotFound"
    },
    {
      name: "svix",
      code: `import { Webhook } from "svix"
        export const main = () => {
          const hook = new Webhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
          const now = new Date()
          const signature = hook.sign("m1", now, '{"a":1}')
          return hook.verify('{"a":1}', { "svix-id": "m1", "svix-timestamp": String(Math.floor(now.getTime() / 1000)), "svix-signature": signature })
        }`,
      expected: { a: 1 }
    }
  ]
}
