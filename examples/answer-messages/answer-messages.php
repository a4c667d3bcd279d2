<?php
// Answers WhatsApp messages. Environment: WAGATE_KEY, WEBHOOK_SECRET, WAGATE_URL.

declare(strict_types=1);

const TOLERANCE_SECONDS = 300;
const REMEMBERED_MAX = 1000;

try {
    http_response_code(handle((string) file_get_contents('php://input')));
} catch (Throwable $error) {
    error_log($error->getMessage());
    // A delivery that is not answered with 2xx comes again.
    http_response_code(502);
}

function handle(string $body): int
{
    if (!is_signed($body)) {
        return 401;
    }
    $content = json_decode($body, true, 64, JSON_THROW_ON_ERROR);
    foreach ($content['events'] ?? [$content] as $event) {
        answer($event);
    }
    return 204;
}

function answer(array $event): void
{
    $message = $event['data']['message'] ?? null;
    $text = $message['message'] ?? '';
    if ($event['type'] !== 'message.received' || $text === '' || !isset($message['number'])) {
        return;
    }
    // PHP keeps nothing between two requests. Your program has a database for this.
    $file = sys_get_temp_dir() . '/wagate-answered-events';
    $answered = is_file($file) ? file($file, FILE_IGNORE_NEW_LINES) : [];
    if (in_array($event['event_id'], $answered, true)) {
        return;
    }
    send([
        'sender' => $message['sender'],
        'number' => $message['number'],
        'message' => reply_to($text),
        'reply_to' => $message['message_id'],
    ], 'answer-' . $event['event_id']);
    $answered[] = $event['event_id'];
    file_put_contents($file, implode("\n", array_slice($answered, -REMEMBERED_MAX)), LOCK_EX);
}

/** The gateway sends once under a key, also if this program ends before it has remembered the event. */
function send(array $message, string $idempotencyKey): void
{
    $headers = [
        'content-type: application/json',
        'x-api-key: ' . required('WAGATE_KEY'),
        "idempotency-key: $idempotencyKey",
    ];
    $http = ['method' => 'POST', 'header' => $headers, 'content' => json_encode($message), 'timeout' => 10];
    $url = (getenv('WAGATE_URL') ?: 'http://127.0.0.1:3000') . '/send-message';
    $answer = @file_get_contents($url, false, stream_context_create(['http' => $http]));
    if ($answer === false) {
        throw new RuntimeException('send-message failed: ' . ($http_response_header[0] ?? 'no answer'));
    }
}

function reply_to(string $text): string
{
    if (preg_match('/\bprice\b/iu', $text)) {
        return 'The price is 12.50 EUR.';
    }
    preg_match('/^.{0,1000}/su', $text, $start);
    return "You wrote: $start[0]";
}

/** Checks the headers of https://www.standardwebhooks.com over the bytes as they were received. */
function is_signed(string $body): bool
{
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return false;
    }
    $secret = base64_decode(preg_replace('/^whsec_/', '', required('WEBHOOK_SECRET')));
    $content = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . ".$timestamp.$body";
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $content, $secret, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

function required(string $name): string
{
    return getenv($name) ?: throw new RuntimeException("Set $name");
}
