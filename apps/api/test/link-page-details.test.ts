import { makeClient } from '@wagate/test-kit/http-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gateway, randomPhone, startGateway } from './gateway.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ PUBLIC_URL: 'https://wa.example.com/' })
})
afterAll(() => gateway.close())

type Account = Awaited<ReturnType<Gateway['createAccount']>>

async function createLink(account: Account, fields: Record<string, unknown> = {}) {
  const { body } = await account.post('/create-link', { sender: randomPhone(), ...fields })
  return { sender: String(body.sender), secret: new URL(String(body.url)).hash.slice(1) }
}

const open = (secret: string) => makeClient(gateway.url, secret).post('/open-link')

describe('what the page shows of the one who asks', () => {
  test('is what create-link was given, and nothing where it was not', async () => {
    const account = await gateway.createAccount()
    const shown = {
      name: 'Counter',
      title: '<b>Shop</b> & Co',
      return_url: 'https://shop.example.com/a?b=c#d',
    }
    const link = await createLink(account, shown)
    expect((await open(link.secret)).body).toMatchObject(shown)
    const bare = await createLink(account)
    expect((await open(bare.secret)).body).toMatchObject({ name: bare.sender, title: null, return_url: null })
  })

  test.each([
    'https://shop.example.com',
    'https://shop.example.com:8443/path?query=1',
    'http://localhost:3000/linked',
    'http://127.0.0.1/linked',
    'http://[::1]:8080/',
  ])('may go on at %s', async (return_url) => {
    const account = await gateway.createAccount()
    expect((await account.post('/create-link', { sender: randomPhone(), return_url })).status).toBe(200)
  })

  test.each([
    'http://shop.example.com',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'javascript:alert(1)//https://a.example',
    'data:text/html,x',
    'https://bank.example@evil.example/',
    'https://user:password@shop.example.com/',
    'https:\\\\shop.example.com',
    'https://shop.exam\tple.com/',
    'https://shop.example.com/\u202Egro.knab',
    ' https://shop.example.com/',
    '//shop.example.com/',
    '/linked',
    'shop.example.com',
    'https://',
    `https://shop.example.com/${'a'.repeat(2048)}`,
  ])('may not go on at %j', async (return_url) => {
    const account = await gateway.createAccount()
    const refused = await account.post('/create-link', { sender: randomPhone(), return_url })
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameter', details: [{ parameter: 'return_url' }] },
    })
    expect((await account.get('/devices')).body.devices).toEqual([])
  })
})
