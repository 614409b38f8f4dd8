import { expect, test } from 'vitest';
import { addressesOf } from './database-url.ts';

test('a URL of the database may name several addresses, each with the rest of it', () => {
  expect(addressesOf('postgres://me:p%40ss@db/pay')).toEqual(['postgres://me:p%40ss@db/pay']);
  expect(
    addressesOf('postgresql://me@a:5432,b:6432/pay?sslmode=require&target_session_attrs=read-write'),
  ).toEqual(['postgresql://me@a:5432/pay?sslmode=require', 'postgresql://me@b:6432/pay?sslmode=require']);
  expect(addressesOf('postgres://a,b/pay?target_session_attrs=read-write&sslmode=disable')).toEqual([
    'postgres://a/pay?sslmode=disable',
    'postgres://b/pay?sslmode=disable',
  ]);
  expect(addressesOf('postgres:///pay?host=%2Frun')).toEqual(['postgres:///pay?host=%2Frun']);
  for (const wrong of ['mysql://a/pay', 'postgres://a:1,b:port/pay', 'db.example.com']) {
    expect(addressesOf(wrong), wrong).toBeUndefined();
  }
});
